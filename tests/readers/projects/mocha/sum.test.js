const assert = require('node:assert');
const fs = require('node:fs');

describe('sum', () => {
  it('adds', () => assert.equal(1 + 2, 3));
  it('stays', () => assert.ok(true));
  it('multiplies');
  it.skip('divides', () => assert.equal(1, 2));
  describe('nested', () => {
    it('works', () => assert.ok(true));
    it('holds what the work says', () => assert.ok(!fs.existsSync('broken')));
  });
});
