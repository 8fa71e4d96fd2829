import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openForge } from '#test/forge.ts'
import { signedIn } from '#test/guest.ts'

test('a browser keeps its colours and whether single keys act', async () => {
  await using forge = await openForge()
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  const place = '/settings/appearance'
  assert.match((await ada.get(place)).text, /data-color-mode="auto" data-keys="on"/)
  const saved = await ada.postAndFollow(place, { color: 'dark' })
  assert.match(saved.text, /data-color-mode="dark" data-keys="off"[\s\S]*Saved\./)
  assert.match((await ada.get('/settings/profile')).text, /data-color-mode="dark" data-keys="off"/)
  await ada.post(place, { color: '"><script>', keys: 'on' })
  assert.match((await ada.get(place)).text, /data-color-mode="auto" data-keys="on"/)
})
