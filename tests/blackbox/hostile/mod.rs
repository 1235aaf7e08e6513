//! What a hostile repository, teammate or text tries on the built programs.

mod text;
