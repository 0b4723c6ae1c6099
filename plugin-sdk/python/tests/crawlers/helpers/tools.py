def twice(number: int) -> int:
    return 2 * number
