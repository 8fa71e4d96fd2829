import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from './needs.ts'

needs({ promtool: 'prometheus' })
const exec = promisify(execFile)
const folder = join(import.meta.dirname, '../deploy/grafana')

test('promtool accepts the alert rules, and the queries of the dashboard', async () => {
  await exec('promtool', ['check', 'rules', join(folder, 'alerts.yaml')])
  const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
    await readFile(join(folder, 'dashboard.json'), 'utf8'),
  )
  const queries = panels.flatMap(({ targets }) => targets).map(({ expr }) => expr.replaceAll('$__rate_interval', '5m'))
  const rules = queries.map((expr, index) => ({ record: `query_${index}`, expr }))
  await using copy = await mkdtempDisposable(join(tmpdir(), 'belfry-rules-'))
  const file = join(copy.path, 'queries.json')
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  await exec('promtool', ['check', 'rules', file])
})
