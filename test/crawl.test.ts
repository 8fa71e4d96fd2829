import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crawl } from './crawler.ts'
import { linesOf } from './forge.ts'
import { openAsAda } from './guest.ts'

test('every link of the pages of someone who begins leads somewhere', async () => {
  await using forge = await openAsAda()
  await forge.ada.get('/new')
  assert.equal((await forge.ada.post('/new', { owner: 'ada', name: 'engine', visibility: 'public', readme: 'on' })).status, 303)
  // The demo is followed into the API and its reference too, see crawl.slow.test.ts.
  const { broken, opened } = await crawl(forge.ada, forge.web, {
    starts: ['/', '/ada', '/ada/engine'],
    most: 1,
    except: /^\/(api\/v3|docs)(\/|$)/,
  })
  assert.ok(opened > 50, `${opened} pages`)
  assert.deepEqual(linesOf(broken, 'status', 'path', 'from'), [])
})
