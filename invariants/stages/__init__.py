"""The stages of waits: why a liveness property of the partition holds (`elrcheck prove --liveness`)."""
