"""Numbers and pictures of the README and the site that were measured: each comes from a stored record.

``block`` finds a table between two comments of a page, ``measured`` says what each is made of and how it is
measured, ``pictures`` does the same for the pictures, ``stored`` keeps records with date, commit and machine.
``python benchmarks/evidence`` compares pages with records, and is run by ``make evidence``.
"""
