import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { openChecker } from '#test/apps.ts'
import { openForge } from '#test/forge.ts'
import { missingPackages } from '#test/needs.ts'
import { Story } from './story.ts'

export interface Program {
  client: string
  /** Programs and files that must be there, with the Debian package of each. */
  needs: Record<string, string>
  /** Gets the client from elsewhere, and returns why that failed. */
  prepare?: () => Promise<string | undefined>
  command: string[]
  env?: () => Record<string, string>
}

/**
 * Runs a story that is written in the client's own language. It gets the address, the tokens of Ada and Ben, and one of an app
 * that reports checks from the environment, and prints `version …` and a line for each chapter: `works …`, `lacks …` or `failed …`.
 */
export function tellStory(program: Program) {
  test(`a newcomer with ${program.client}`, async (t) => {
    const missing = missingPackages(program.needs)
    if (missing.length) return t.skip(skipped(program.client, missing))
    const reason = await program.prepare?.()
    if (reason !== undefined) return t.skip(`${program.client} was not tried: ${reason}`)
    await using forge = await openForge({ worker: true })
    const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
    const checker = await openChecker(forge, ada)
    const env = { BELFRY: forge.web, ADA: ada.token, BEN: ben.token, CHECKER: checker.token, ...program.env?.() }
    const { stdout, stderr, failed } = await run(program.command, env)
    const lines = stdout.trim().split('\n')
    const after = (word: string) => lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
    assert.deepEqual([failed, after('failed')], [false, []], `${stdout}\n${stderr}`)
    assert.ok(after('works').length, 'a chapter was told')
    const story = new Story(t, { client: program.client, version: after('version')[0] ?? '' })
    story.add({ works: after('works'), lacks: after('lacks') })
    await story.end()
  })
}

export const skipped = (client: string, missing: string[]) =>
  `${client} was not tried, because it is not installed. On Debian: apt-get install ${missing.join(' ')}`

/** Without the environment of this process, which may name another host or token. */
export function run([file = '', ...words]: string[], env: Record<string, string>) {
  const { PATH = '', TMPDIR = '/tmp' } = process.env
  const options = { env: { PATH, TMPDIR, HOME: TMPDIR, LANG: 'C.UTF-8', ...env }, timeout: 120_000 }
  return new Promise<{ stdout: string; stderr: string; failed: boolean }>((resolve) => {
    execFile(file, words, options, (error, stdout, stderr) => resolve({ stdout, stderr, failed: error !== null }))
  })
}
