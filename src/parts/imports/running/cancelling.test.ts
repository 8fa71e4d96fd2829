import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { begin, hold, openRuns, refsIn, refsOf, run } from '#test/imports/runs.ts'
import { countSteps, until } from '#test/machine.ts'
import { membersOf } from './groups.ts'

/** The runner looks this often, in milliseconds, and may take so many looks to cancel. */
const [interval, mostLooks] = [500, 4]

test('an import that is cancelled in any step leaves neither processes nor files, within two seconds', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, onBegun, leftovers } = runs
  let wanted: string | undefined
  const frozen = new Map<string, () => void>()
  onBegun(({ step, group }) => {
    if (step !== wanted) return
    process.kill(-group, 'SIGSTOP')
    frozen.get(step)?.()
  })
  await using _ = run(forge)
  for (const step of ['detect', 'import', 'map', 'push'] as const) {
    wanted = step
    const begun = new Promise<void>((resolve) => frozen.set(step, resolve))
    const { path, repo } = await begin(ada, step, { vcs_url: `${server.url}/open/source.git` })
    await begun
    using looks = countSteps(interval)
    assert.equal((await ada.delete(path)).status, 204)
    await until('nothing is left', async () => (await leftovers()).length === 0)
    assert.ok(looks.steps <= mostLooks, `it took ${looks.steps} looks to cancel ${step}`)
    assert.equal((await ada.get(path)).status, 404)
    assert.equal(await refsOf(forge, repo), '')
  }
})

test('what the worker has started ends with it, and what is begun anew begins with nothing', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, begun, leftovers } = runs
  const { letGo, reached } = hold(runs)
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs_url: `${server.url}/open/source.git` })
  await reached()
  const before = begun.at(-1)
  await writeFile(join(before?.folder ?? '', 'left'), '')
  await expect(200, await ada.patch(engine.path, {}))
  await until('it is begun anew', () => begun.at(-1)?.step === 'import' && begun.at(-1)?.group !== before?.group)
  assert.deepEqual(await membersOf(before?.group ?? 0), [])
  letGo()
  await engine.reaches('complete')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))
  await until('nothing is left', async () => (await leftovers()).length === 0)
})

test('folders of imports that are no more are removed', async () => {
  await using runs = await openRuns()
  const { forge, root, leftovers } = runs
  await mkdir(join(root, '4711', 'stage.git'), { recursive: true })
  await mkdir(join(root, 'gone-abc'))
  await using _ = run(forge)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})
