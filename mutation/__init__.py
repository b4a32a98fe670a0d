"""Rules broken on purpose in any model: guards left out and expressions changed, judged by searches."""
