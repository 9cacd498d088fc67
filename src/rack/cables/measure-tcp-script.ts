import { pl } from './scripts.generated.ts';

/** The program that measures TCP over one cable. It runs on both Macs, and each gets the lines that the other prints. */
export const measureTcpProgram = pl.measureTcp;

/** The words that run the program in this file, on the Mac that has this address on the cable. */
export const measureTcpWords = (
  file: string,
  address: string,
  role: 'lead' | 'follow',
  seconds: number,
): readonly string[] => ['perl', file, address, role, String(seconds)];
