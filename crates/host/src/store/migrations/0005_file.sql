-- The file that a call would change, as it was when the agent asked.
ALTER TABLE approvals ADD COLUMN file TEXT;
