const gibibyte = 2 ** 30;

const decimals = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));

/** Memory as Apple labels it: 2^39 bytes are `512 GB`; a size that is no whole number of GiB is given in `GiB`. */
export function memoryText(bytes: number): string {
  const inGibibytes = bytes / gibibyte;
  return Number.isInteger(inGibibytes) ? `${inGibibytes} GB` : `${inGibibytes.toFixed(1)} GiB`;
}

/** Room on a disk in decimal units, as Apple counts it: `7.9 TB`, `494 GB`, `12 MB`. */
export function diskText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${decimals(bytes / 1000 ** power)} ${units[power] ?? 'B'}`;
}

/** `80 Gb/s`. */
export const speedText = (bitsPerSecond: number): string => `${decimals(bitsPerSecond / 1e9)} Gb/s`;

/** `250 ms`, `4.2 s`, `12 min`, `3 h`, `2 days`: an amount of time, without its sign. */
export function durationText(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000;
  const steps = [
    { below: 1, each: 0.001, unit: 'ms' },
    { below: 120, each: 1, unit: 's' },
    { below: 7_200, each: 60, unit: 'min' },
    { below: 172_800, each: 3_600, unit: 'h' },
  ];
  const step = steps.find(({ below }) => seconds < below) ?? { each: 86_400, unit: 'days' };
  return `${decimals(seconds / step.each)} ${step.unit}`;
}
