const two = (value: number): string => String(value).padStart(2, '0');

/**
 * `2026-09-26 06:12:40 UTC`. Worked out from the number alone (Gregorian calendar, eras of 400 years), so that the
 * text depends on nothing of the machine that prints it.
 */
export function utcText(epochSeconds: number): string {
  if (!Number.isSafeInteger(epochSeconds)) {
    return 'at no known time';
  }
  const days = Math.floor(epochSeconds / 86_400);
  const second = epochSeconds - days * 86_400;
  // Counted from 1 March of year 0, so that the leap day is the last of its year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const time = [Math.floor(second / 3_600), Math.floor(second / 60) % 60, second % 60].map(two).join(':');
  return `${year}-${two(month)}-${two(day)} ${time} UTC`;
}
