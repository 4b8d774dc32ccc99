//! Pictures of a flow: for a page, for Graphviz, for a browser, for a terminal.
//!
//! ```text
//! Flow -> diagram (shapes, links) -+-> mermaid, dot, text
//!                                  +-> layout (places, curves) -> svg
//! ```
//!
//! Everything here is a pure function of the flow. `diagram` decides what
//! is worth drawing, so that all four say the same; `label` makes words
//! from a skill fit for one line and free of anything that acts on a screen.
//!
//! What is true of every step is not drawn: a failure that nothing catches fails
//! the run. A refusal that nothing catches is drawn, because people look for
//! questions that can end a run.
//!
//! Touches nothing. `aye graph`, the page and the editor show the text.

mod diagram;
mod dot;
mod json;
mod label;
mod layout;
mod mermaid;
mod svg;
mod text;

pub use dot::dot;
pub use json::json;
pub use mermaid::mermaid;
pub use svg::svg;
pub use text::text;
