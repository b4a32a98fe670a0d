"""Read traces in every notation, replay them in the plain model, describe and explain them."""
