//! Over HTTP: who is let in, and what each can reach.
