import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A disk that waits for a password lets nobody be logged in by itself. */
export function loginUnderFileVault({ automaticLogin, fileVault }: Draft): readonly Finding[] {
  if (automaticLogin?.text !== 'required' || fileVault?.text !== 'enabled') return [];
  return [
    {
      code: 'node/login-under-filevault',
      pointer: automaticLogin.pointer,
      at: 'value',
      detail: 'A Mac whose disk is encrypted by FileVault logs nobody in by itself.',
      others: [{ pointer: fileVault.pointer, at: 'value', detail: 'FileVault is to be on.' }],
    },
  ];
}
