// Short names for what the API speaks of. Everything is taken from the generated schema; nothing is stated twice.
import type { components } from './schema';

type Schemas = components['schemas'];

export type Session = Schemas['SessionView'];
export type Earlier = Schemas['Earlier'];
export type WorktreeView = Schemas['WorktreeView'];
export type SessionState = Session['state'];
export type Mode = Schemas['Mode'];
export type ModeName = Schemas['ModeName'];
export type Pause = Schemas['Pause'];
export type Approval = Schemas['ApprovalView'];
export type ApprovalKind = Schemas['Kind'];
export type ApprovalLife = Approval['life'];
export type Outcome = Schemas['Outcome'];
export type Withdrawal = Schemas['Withdrawal'];
export type Asker = Schemas['Asker'];
export type Offer = Schemas['Offer'];
export type Decide = Schemas['Decide'];
export type Decided = Schemas['Decided'];
export type DecisionView = Schemas['DecisionView'];
export type Remember = Schemas['Remember'];
export type RuleScope = Schemas['Scope'];
export type Rule = Schemas['RuleView'];
export type NewRule = Schemas['NewRule'];
export type Explained = Schemas['Explained'];
export type PlanCard = Schemas['Card'];
export type PlanVersion = Schemas['PlanVersion'];
export type PlanDecision = Schemas['PlanDecision'];
export type PlanWay = Schemas['Way'];
export type Comment = Schemas['Comment'];
export type Drafts = Schemas['Drafts'];
export type Queued = Schemas['Queued'];
export type Receipt = Schemas['Receipt'];
export type Problem = Schemas['Problem'];
export type Me = Schemas['Me'];
export type TokenScope = Schemas['TokenScope'];
export type Token = Schemas['TokenView'];
export type MadeToken = Schemas['MadeToken'];
export type Preferences = Schemas['Preferences'];
export type Template = Schemas['Template'];
export type TemplateView = Schemas['TemplateView'];
export type Webhook = Schemas['WebhookView'];
export type PutWebhook = Schemas['PutWebhook'];
export type WebhookEvent = Schemas['WebhookEvent'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type Browsed = Schemas['Browsed'];
export type RecentFolder = Schemas['RecentFolder'];
export type StartBody = Schemas['StartBody'];
export type MessageBody = Schemas['MessageBody'];
export type Found = Schemas['Found'];
export type Usage = Schemas['Usage'];
export type Spent = Schemas['Spent'];
export type TaskView = Schemas['TaskView'];
export type TaskOutput = Schemas['TaskOutput'];
export type ContextView = Schemas['ContextView'];
export type McpServer = Schemas['McpServer'];

export * from './transcript';

/** What `/events` tells: the event's name, and of which session it speaks. */
export type Happened =
  | { event: 'session'; session: string; state: string; reason: string }
  | { event: 'approval'; session: string; approval: string; life: string }
  | { event: 'queue'; session: string; waiting: number }
  | { event: 'turn'; session: string; ok: boolean; cost_usd: number }
  | { event: 'rules' }
  | { event: 'trouble'; session?: string; text: string }
  | { event: 'gap' }
  | { event: 'caught-up'; number: number };

/** Milliseconds of a time of the API, which is microseconds of Unix time. */
export const millis = (at: number): number => at / 1000;
