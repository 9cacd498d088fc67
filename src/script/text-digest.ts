import { type Digest, digestOf } from '../model/digest.ts';
import type { Text } from '../model/step.ts';

/** The digest of a text before its paths are rendered: equal on a Mac and on a simulated node. */
export const textDigest = (content: Text): Digest =>
  digestOf(content.map((part) => (typeof part === 'string' ? part : { path: part.path })));
