import type { Resource } from '../../resource.ts';
import { verifyOnly } from '../../verify-only.ts';

/** Automatic login, where the file has a wish: macOS asks for the password of the account. */
export const loginWindow: Resource = verifyOnly({
  kind: 'login-window',
  after: ['identity'],
  gaps: ({ desired, targets }) =>
    targets.flatMap(({ desired: { name: node }, facts }) =>
      desired.system.automaticLogin !== undefined && facts['automatic-login'].kind === 'unknown'
        ? [{ node, resource: 'login-window', text: 'whether somebody is logged in automatically' }]
        : [],
    ),
});
