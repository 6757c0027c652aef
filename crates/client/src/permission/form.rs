//! Questions of the agent to a person, and their answers.
//!
//! Owns [`QuestionForm`], a view of AskUserQuestion that is filled in. Invariants: the answer repeats the questions
//! (2.1.325 refuses it otherwise); an answer to a question that was not asked is an error, not a loss.

use std::collections::BTreeMap;

use countersign_wire::Json;
use countersign_wire::tools::Question;

use super::Decision;

/// What the agent asks, with the answers so far.
///
/// ```no_run
/// # use countersign_client::{Decision, PermissionRequest, Subject};
/// # fn decide(request: PermissionRequest) -> Result<Decision, Box<dyn std::error::Error>> {
/// if let Subject::Questions(mut form) = request.subject() {
///     form.choose("Which database?", "SQLite")?;
///     form.choose_many("Which platforms?", ["Linux", "macOS"])?;
///     form.write("Anything else?", "keep it small")?;
///     return Ok(form.submit());
/// }
/// # Ok(Decision::allow())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionForm {
    questions: Vec<Question>,
    original: Json,
    answers: BTreeMap<String, String>,
}

/// An answer does not fit what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// There is no such question.
    #[error("`{question}` was not asked: use the text of a question as it stands in the form")]
    NotAsked {
        /// What was to be answered.
        question: String,
    },
    /// There is no such option.
    #[error("`{label}` is no option of `{question}`: use `write` for an answer in one's own words")]
    NoSuchOption {
        /// The question.
        question: String,
        /// What was to be chosen.
        label: String,
    },
    /// The question takes one option.
    #[error("`{question}` takes one option: use `choose`")]
    OneOnly {
        /// The question.
        question: String,
    },
}

impl QuestionForm {
    pub(super) fn new(questions: Vec<Question>, original: &Json) -> Self {
        Self {
            questions,
            original: original.clone(),
            answers: BTreeMap::new(),
        }
    }

    /// What is asked.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The questions that have no answer yet.
    pub fn unanswered(&self) -> impl Iterator<Item = &Question> {
        let is_open = |asked: &&Question| !self.answers.contains_key(&asked.question);
        self.questions.iter().filter(is_open)
    }

    /// Answers with one of the options. A later answer replaces an earlier one.
    ///
    /// # Errors
    /// When the question was not asked, or has no such option.
    pub fn choose(&mut self, question: &str, label: &str) -> Result<&mut Self, FormError> {
        has_option(self.asked(question)?, label)?;
        self.write(question, label)
    }

    /// Answers with several of the options; they go to the model as `A, B`.
    ///
    /// # Errors
    /// When the question was not asked, takes one option only, or has no such option.
    pub fn choose_many<I, S>(&mut self, question: &str, labels: I) -> Result<&mut Self, FormError>
    where
        I: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let asked = self.asked(question)?;
        let mut chosen: Vec<String> = Vec::new();
        for label in labels {
            has_option(asked, label.as_ref())?;
            chosen.push(label.as_ref().to_owned());
        }
        if !asked.multi_select && chosen.len() > 1 {
            return Err(FormError::OneOnly {
                question: question.to_owned(),
            });
        }
        self.write(question, chosen.join(", "))
    }

    /// Answers in one's own words.
    ///
    /// # Errors
    /// When the question was not asked.
    pub fn write(
        &mut self,
        question: &str,
        answer: impl Into<String>,
    ) -> Result<&mut Self, FormError> {
        self.asked(question)?;
        self.answers.insert(question.to_owned(), answer.into());
        Ok(self)
    }

    /// Gives the answers. What was left open the model is told to be unanswered (2.1.325), or answered with nothing.
    pub fn submit(&self) -> Decision {
        let filled = || -> Result<Json, serde_json::Error> {
            let mut fields: BTreeMap<String, Json> = self.original.to()?;
            fields.insert("answers".to_owned(), Json::of(&self.answers)?);
            Json::of(&fields)
        };
        match filled() {
            Ok(input) => Decision::allow().with_input(input),
            Err(_) => Decision::deny("The answers could not be written."),
        }
    }

    /// Does not answer; the model reads `message`.
    pub fn decline(&self, message: impl Into<String>) -> Decision {
        Decision::deny(message)
    }

    fn asked(&self, question: &str) -> Result<&Question, FormError> {
        let mut questions = self.questions.iter();
        let asked = questions.find(|asked| asked.question == question);
        asked.ok_or_else(|| FormError::NotAsked {
            question: question.to_owned(),
        })
    }
}

fn has_option(asked: &Question, label: &str) -> Result<(), FormError> {
    match asked.options.iter().any(|option| option.label == label) {
        true => Ok(()),
        false => Err(FormError::NoSuchOption {
            question: asked.question.clone(),
            label: label.to_owned(),
        }),
    }
}
