import { known } from '../../../model/known.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { preference } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/** Whom the Mac logs in by itself when it starts. */
export const automaticLogin: Fact<'automatic-login'> = {
  name: 'automatic-login',
  from: [nodeSettings],
  parse: ([answer]) => {
    const user = preference(answer, 'login', 'autoLoginUser');
    if (user.kind === 'unknown') return user;
    if (user.value === undefined) return known({});
    return /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(user.value)
      ? known({ user: user.value })
      : garbled(answer, 'printed no name of an account');
  },
};
