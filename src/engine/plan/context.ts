import type { View } from '../../rack/resource.ts';
import type { Scope } from '../goals/scope.ts';

/** What everything is judged in. */
export interface Context {
  readonly scope: Scope;
  readonly view: View;
}
