import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideLookalikes, hideSecrets, secretForms, withoutSecrets } from '../../../src/diagnostics/hide-secrets.ts';

const secret = 'a "b"\\/ +ü?&c-01';
const isHidden = (text: string): boolean => withoutSecrets(text, secretForms(secret)).includes('********');

describe('a secret in a file', () => {
  it('is hidden, but its source is shown', async () => {
    const lines = readFileSync('test/cases/secrets.yaml', 'utf8').split('\n');
    await expect(JSON.stringify(hideSecrets(lines), null, 1)).toMatchFileSnapshot('golden/hide-secrets.txt');
  });
});

describe("a secret's forms", () => {
  it('are hidden in plain text, JSON and URLs', () => {
    const url = new URL(`http://x/?key=${encodeURIComponent(secret)}`).href;
    const texts = [secret, JSON.stringify({ key: `Bearer ${secret}` }), url];
    expect(texts.map((text) => [isHidden(text), withoutSecrets(text, secretForms(secret)).includes('c-01')])).toEqual(
      texts.map(() => [true, false]),
    );
  });

  it('are hidden in base64 with either alphabet, within any other text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const bytes = Buffer.from(`${before}${secret}${after}`);
        expect([isHidden(bytes.toString('base64')), isHidden(bytes.toString('base64url'))]).toEqual([true, true]);
      }),
    );
  });

  it('exclude secrets too short to distinguish from other text', () => {
    expect(secretForms('ab')).toEqual([]);
  });
});

describe('a text for strangers', () => {
  it.each([
    'Authorization: Bearer abcdefgh12345678',
    'HF_TOKEN=hf_abcdefghijklmnopqrst',
    'downloading with hf_abcdefghijklmnopqrst now',
    '{"api_key": "sk-abcdefgh12345678"}',
    'client_secret = "abcdefgh12345678"',
    'proxy http://mesh:abcdefgh12345678@proxy.lan:3128',
    '\u001b[1mhf_abcdefghijklmnopqrst',
  ])('contains no secret: %s', (line) => {
    const shown = hideLookalikes(`before\n${line}\nafter`);
    expect(shown).toContain('********');
    expect(shown).not.toMatch(/abcdefgh/);
    expect(shown).toMatch(/^before\n[\s\S]*\nafter$/);
  });

  it.each([
    'Prompt: 512 tokens, first_token: 0.41 s, max_token=131072',
    'no token: the endpoint returned 503',
    'sudo: a password is required',
    'Starting httpd at 127.0.0.1 on port 8080...',
  ])('keeps what only resembles a secret: %s', (line) => {
    expect(hideLookalikes(line)).toBe(line);
  });
});
