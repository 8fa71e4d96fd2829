import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { openEngine } from '#test/git.ts'

const modules = (name: string, path: string, url: string) => `[submodule "${name}"]\n\tpath = ${path}\n\turl = ${url}\n`

/** What git refuses of a push, as it would run a command or write outside of the folder where it is cloned. */
const refused: Record<string, [path: string, content: string]> = {
  'a name that leads out of its folder': ['.gitmodules', modules('../../x', 'x', 'https://example.com/x')],
  'an address that is an option': ['.gitmodules', modules('x', 'x', '--upload-pack=touch /tmp/x')],
  'a path that is an option': ['.gitmodules', modules('x', '-x', 'https://example.com/x')],
  'an update that is a command': ['.gitmodules', `${modules('x', 'x', 'https://example.com/x')}\tupdate = !touch /tmp/x\n`],
  'another spelling of the name': ['.GitModules', modules('../../x', 'x', 'https://example.com/x')],
  'the short name of some systems': ['GITMOD~1', modules('../../x', 'x', 'https://example.com/x')],
  'in a folder too': ['docs/.gitmodules', modules('../../x', 'x', 'https://example.com/x')],
}

test('the contents API refuses what a push refuses, and stores nothing', async () => {
  await using engine = await openEngine()
  const { work, forge, ada, id } = engine
  const begin = await work.commit('Begin', { 'README.md': 'x' })
  await work.push()
  const objects = () => work.git('-C', forge.belfry.storage.pathOf(id), 'count-objects', '-v')
  const before = await objects()
  for (const [why, [path, content]] of Object.entries(refused)) {
    const body = { message: why, content: Buffer.from(content).toString('base64') }
    const { message } = await expect(422, await ada.put(`/repos/ada/engine/contents/${path}`, body))
    assert.match(message, /^Git refuses \w{40}: gitmodules\w+: /, why)
    await writeFile(join(work.folder, 'contents'), content)
    const blob = await work.git('hash-object', '-w', 'contents')
    await work.git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`)
    await work.git('-c', 'core.protectNTFS=false', 'commit', '--quiet', '-m', why)
    assert.match((await work.attempt('push', 'origin', 'HEAD')).stderr, /gitmodules\w+: /, why)
    await work.git('-c', 'core.protectNTFS=false', 'reset', '--quiet', begin)
  }
  for (const path of ['.git/config', 'a/.GIT/config', 'git~1/config', '.git%20/config']) {
    await expect(422, await ada.put(`/repos/ada/engine/contents/${path}`, { message: 'm', content: '' }))
  }
  assert.equal(await objects(), before)
  const good = Buffer.from(modules('x', 'x', 'https://example.com/x')).toString('base64')
  await expect(201, await ada.put('/repos/ada/engine/contents/.gitmodules', { message: 'm', content: good }))
})

test('a file over the largest size is refused', async () => {
  await using engine = await openEngine({ settings: { BELFRY_OBJECT_SIZE: '1' } })
  await engine.work.commit('Begin')
  await engine.work.push()
  const content = Buffer.alloc((1 << 20) + 1).toString('base64')
  const { message } = await expect(422, await engine.ada.put('/repos/ada/engine/contents/a', { message: 'm', content }))
  assert.equal(message, 'A file may have at most 1048576 bytes.')
})
