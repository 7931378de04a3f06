import fs from 'node:fs';
import { describe, expect, test } from 'vitest';

describe('sum', () => {
  test('adds', () => expect(1 + 2).toBe(3));
  test.each([1, 2, 3])('is its own: %i', (a) => expect(a).toBe(a));
  describe('nested', () => {
    test('works', () => expect(1).toBe(1));
    test('holds what the work says', () => expect(fs.existsSync('broken')).toBe(false));
  });
  test('stays', () => expect(true).toBe(true));
  test.todo('multiplies');
  test.skip('divides', () => expect(1).toBe(2));
});
