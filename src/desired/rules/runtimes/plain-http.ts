import { modelSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A model that nodes fetch by http, which the file does not allow. */
export const plainHttp = ({ models }: Draft): readonly Finding[] =>
  models
    .filter(({ isRefusedHttp }) => isRefusedHttp)
    .map(
      ({ name, pointer }): Finding => ({
        code: 'model/plain-http',
        pointer: `${pointer}/source`,
        at: 'value',
        detail: `The nodes would fetch ${name} by http.`,
        subject: modelSubject(name),
      }),
    );
