"""Single steps of the controller, proved for every state: `prove --controller`."""
