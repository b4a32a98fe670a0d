"""Rules broken on purpose: hazards, guards left out, changes of rules; judged by searches and the proof."""
