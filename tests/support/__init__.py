"""What tests share: slow, obvious oracles, data and files made for them."""
