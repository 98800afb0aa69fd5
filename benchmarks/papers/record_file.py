"""Records of single fits as a CSV file; an empty cell is a number that does not exist."""

import csv
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RecordFile:
    """Columns with their types, formats of the columns that have one, and what tells records apart."""

    columns: dict
    key: tuple
    digits: dict = field(default_factory=dict)

    def write(self, records, path):
        """One line for each record, in the order given."""
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(self.columns)
            out.writerows([self._cell(name, record[name]) for name in self.columns] for record in records)

    def read(self, paths):
        """The records of these files: of several with the same key the last, where the first one was."""
        records = {}
        for path in paths:
            with open(path, newline="") as file:
                for line in csv.DictReader(file):
                    record = {name: self._value(kind, line[name]) for name, kind in self.columns.items()}
                    records[tuple(record[name] for name in self.key)] = record
        return list(records.values())

    def _cell(self, name, value):
        return "" if value is None else format(value, self.digits.get(name, ""))

    @staticmethod
    def _value(kind, text):
        return kind(text) if text else None
