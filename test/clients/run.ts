import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeRows } from './story.ts'

/** `npm run clients`: runs the stories of all clients, those that `npm test` leaves out too, and writes the table of docs/clients.md. */
const folder = mkdtempSync(join(tmpdir(), 'belfry-clients-'))
try {
  const named = process.argv.slice(2)
  const files = named.length ? named : globSync('*.{test,story}.ts', { cwd: import.meta.dirname }).sort()
  const options = ['--test', '--test-global-setup=test/setup.ts', '--test-timeout=300000', '--test-concurrency=2']
  const child = spawn(process.execPath, [...options, ...files.map((file) => join(import.meta.dirname, file))], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, BELFRY_CLIENT_OUTCOMES: folder },
    stdio: 'inherit',
  })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  // A failed chapter must not become a row that says it works.
  if (status === 0)
    writeRows(globSync('*.json', { cwd: folder }).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8'))))
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
