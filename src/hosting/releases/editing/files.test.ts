import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWithEngine } from '#test/conversations.ts'
import { signedIn } from '#test/guest.ts'
import { seeding } from '#test/seeding.ts'

const releases = '/repos/ada/engine/releases'
const hostile = '<script>alert(1)</script>"><img onerror=x>.zip'
const seed = seeding('ada', async (work) => ({ branches: { main: await work.commit('Begin') } }))

async function openSeeded() {
  const forge = await openWithEngine()
  await seed(forge, forge.ada)
  return forge
}

const file = (name: string, content = 'contents', type = 'text/plain') => new File([content], name, { type })

test('files are uploaded with a release, renamed, labelled and deleted on its page', async () => {
  await using forge = await openSeeded()
  const ben = await signedIn(forge, 'ben')
  const stored = async () =>
    (await readdir(join(forge.belfry.settings.BELFRY_DATA, 'lfs'), { recursive: true }).catch(() => [])).length
  await ben.get('/ada/engine/releases/new')
  const { csrf } = ben
  const fields: [string, string | File][] = [
    ['tag_name', 'v1'],
    ['body', 'Kept text'],
    ['files', file('our engine.txt')],
    ['files', file(hostile)],
    ['action', 'draft'],
  ]
  ben.csrf = 'wrong'
  assert.equal((await ben.upload('/ada/engine/releases/new', fields)).status, 403)
  assert.equal(await stored(), 0, 'no file is stored before the token is checked')
  ben.csrf = csrf

  const twice = await ben.upload('/ada/engine/releases/new', [['files', file('our.engine.txt')], ...fields])
  assert.equal(twice.status, 422)
  assert.match(twice.text, /already has a file our\.engine\.txt[\s\S]*Kept text/)
  assert.deepEqual(await forge.ben.read(releases), [])
  assert.match((await ben.upload('/ada/engine/releases/new', fields)).location ?? '', /^\/ada\/engine\/releases\?flash/)
  const [release] = await forge.ben.read(releases)
  const names = async () => (await forge.ben.read(`${releases}/${release.id}/assets`)).map(({ name }: { name: string }) => name)
  assert.deepEqual(await names(), ['our.engine.txt', 'script.alert.1.script.img.onerror.x.zip'])
  const edit = `/ada/engine/releases/edit/${release.id}`
  const page = await ben.get(edit)
  assert.doesNotMatch(page.text, /<script>alert|<img onerror/)

  const [first, second] = release.assets
  const change = (asset: { id: number }, sent: Record<string, string>) => ben.postAndFollow(`${edit}/files/${asset.id}`, sent)
  assert.match(
    (await change(first, { act: 'save', file_name: 'engine.txt', file_label: 'The engine' })).text,
    /engine\.txt is saved/,
  )
  const refused = await change(second, { act: 'save', file_name: 'engine.txt', file_label: 'Mine' })
  assert.match(refused.text, /already has a file engine\.txt[\s\S]*value="engine\.txt"[\s\S]*value="Mine"/)
  assert.match((await change(second, { act: 'delete' })).text, /is deleted/)
  assert.deepEqual(await names(), ['engine.txt'])
  assert.equal((await ben.upload(edit, [...fields, ['files', file('engine.txt')]])).status, 422)
  const published = await ben.upload(edit, [
    ['tag_name', 'v1'],
    ['files', new File([], '')],
    ['action', 'publish'],
  ])
  assert.match(published.location ?? '', /releases\/tag\/v1/)
  assert.equal(await (await fetch(`${forge.web}/ada/engine/releases/download/v1/engine.txt`)).text(), 'contents')
  assert.match((await ben.get('/ada/engine/releases/tag/v1')).text, />The engine<[\s\S]*8 bytes[\s\S]*1 downloads/)

  const dan = await signedIn(forge, 'dan')
  for (const path of ['/ada/engine/releases/new', edit]) {
    await dan.get('/ada/engine')
    assert.equal((await dan.upload(path, fields)).status, 403)
  }
  assert.equal((await dan.post(`${edit}/files/${first.id}`, { act: 'delete' })).status, 403)
  dan.cookies.clear()
  const lapsed = await dan.upload('/ada/engine/releases/new', fields)
  assert.match(lapsed.text, /what you wrote is kept/)
})
