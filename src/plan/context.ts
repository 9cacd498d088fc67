import type { View } from '../resources/resource.ts';
import type { Scope } from './scope.ts';

/** What everything is judged in. */
export interface Context {
  readonly scope: Scope;
  readonly view: View;
}
