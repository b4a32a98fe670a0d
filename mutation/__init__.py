"""Rules broken on purpose in any model: guards left out, judged by searches."""
