//! What a hostile repository, teammate or talked-over model tries.

mod leave;
