import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { expect } from '#test/forge.ts'
import { begin, hold, openRuns, refsIn, refsOf, run } from '#test/imports/runs.ts'
import { countSteps, until } from '#test/machine.ts'
import { membersOf } from './process-group.ts'

/** The poll interval of the runner in milliseconds, and the most polls that a cancel may take. */
const [interval, maxPolls] = [500, 4]

test('an import cancelled in any step leaves no processes and no files, within two seconds', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, onStepStarted, leftovers } = runs
  let wanted: string | undefined
  const frozen = new Map<string, () => void>()
  onStepStarted(({ step, group }) => {
    if (step !== wanted) return
    process.kill(-group, 'SIGSTOP')
    frozen.get(step)?.()
  })
  await using _ = run(forge)
  for (const step of ['detect', 'import', 'map', 'push'] as const) {
    wanted = step
    const stepStarted = new Promise<void>((resolve) => frozen.set(step, resolve))
    const { path, repo } = await begin(ada, step, { vcs_url: `${server.url}/open/source.git` })
    await stepStarted
    using polls = countSteps(interval)
    assert.equal((await ada.delete(path)).status, 204)
    await until('nothing is left', async () => (await leftovers()).length === 0)
    assert.ok(polls.steps <= maxPolls, `it took ${polls.steps} polls to cancel ${step}`)
    assert.equal((await ada.get(path)).status, 404)
    assert.equal(await refsOf(forge, repo), '')
  }
})

test('child processes end with their worker, and a restarted import reuses nothing', async () => {
  await using runs = await openRuns()
  const { forge, ada, server, source, startedSteps, leftovers } = runs
  const { letGo, reached } = hold(runs)
  await using _ = run(forge)
  const engine = await begin(ada, 'engine', { vcs: 'git', vcs_url: `${server.url}/open/source.git` })
  await reached()
  const before = startedSteps.at(-1)
  await writeFile(join(before?.folder ?? '', 'left'), '')
  await expect(200, await ada.patch(engine.path, {}))
  await until('it has restarted', () => startedSteps.at(-1)?.step === 'import' && startedSteps.at(-1)?.group !== before?.group)
  assert.deepEqual(await membersOf(before?.group ?? 0), [])
  letGo()
  await engine.reaches('complete')
  assert.equal(await refsOf(forge, engine.repo), await refsIn(source.path))
  await until('nothing is left', async () => (await leftovers()).length === 0)
})

test('folders of deleted imports are removed', async () => {
  await using runs = await openRuns()
  const { forge, root, leftovers } = runs
  await mkdir(join(root, '4711', 'stage.git'), { recursive: true })
  await mkdir(join(root, 'gone-abc'))
  await using _ = run(forge)
  await until('nothing is left', async () => (await leftovers()).length === 0)
})
