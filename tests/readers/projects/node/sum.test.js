const assert = require('node:assert');
const fs = require('node:fs');
const { describe, it, test } = require('node:test');

test('adds', () => assert.equal(1 + 2, 3));
test('stays', () => assert.ok(true));
test('multiplies', { todo: true }, () => {});
test('divides', { skip: 'later' }, () => assert.equal(1, 2));
describe('nested', () => {
  it('works', () => assert.ok(true));
  it('holds what the work says', () => assert.ok(!fs.existsSync('broken')));
});
