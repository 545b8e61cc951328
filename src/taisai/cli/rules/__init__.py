"""The commands about rulebooks, odds and settlement."""
