import unittest

from quote import clean


class CleanTest(unittest.TestCase):
    def test_quotation_marks_are_left_away(self) -> None:
        self.assertEqual(clean(" “To be, or not to be” "), "To be, or not to be")
        self.assertEqual(clean("plain"), "plain")


if __name__ == "__main__":
    unittest.main()
