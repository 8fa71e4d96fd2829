import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { apiGroups } from '#app.ts'
import { openForge } from '#test/forge.ts'
import { Reference } from './reference.ts'
import { languages, type Sample, writeSnippet } from './snippets.ts'
import { sampleOf } from './views/operation.ts'

const run = promisify(execFile)

/** Programs that run a snippet as its reader would. */
const runners: Record<string, (code: string) => [program: string, args: string[]]> = {
  curl: (code) => ['sh', ['-c', code.replace(/^curl/, 'curl -sS')]],
  octokit: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  python: (code) => ['python3', ['-c', code]],
}

const hasRequests = await run('python3', ['-c', 'import requests']).then(
  () => true,
  () => false,
)

test('the same request in each language does the same, whatever its values contain', async (t) => {
  await using forge = await openForge()
  const ada = await forge.person('ada')
  await ada.owns('engine', { auto_init: true })
  const title = `it's "$(id)" \`id\` \\ \${1} é 𝄞 <b> %s {x}`
  const request = (more: Partial<Sample>): Sample => ({
    method: 'POST',
    base: `${forge.web}/api/v3`,
    path: '/repos/{owner}/{repo}/issues',
    names: [
      ['owner', 'ada'],
      ['repo', 'engine'],
    ],
    query: [],
    body: { title, labels: ['a', 'b'], body: null },
    credential: 'token',
    reads_json: true,
    ...more,
  })
  const read = { method: 'GET', path: '/repos/{owner}/{repo}/contents/{path+}', body: undefined } as const
  const names: Sample['names'] = [...request({}).names, ['path', "a b/it's.txt"]]
  const file = request({ ...read, method: 'PUT', names, body: { message: 'Add', content: 'aGk=' } })
  const [program, args] = runners.curl?.(writeSnippet('curl', file)) ?? assert.fail()
  await run(program, args, { env: { ...process.env, TOKEN: ada.token } })
  for (const [language] of languages) {
    if (language === 'python' && !hasRequests) {
      t.diagnostic('Python has no module requests')
      continue
    }
    const print = async (sample: Sample) => {
      const [program, args] = runners[language]?.(writeSnippet(language, sample)) ?? assert.fail(language)
      const { stdout } = await run(program, args, { env: { ...process.env, TOKEN: ada.token }, timeout: 120_000 })
      return stdout
    }
    await print(request({}))
    const [latest] = await ada.read('/repos/ada/engine/issues')
    assert.equal(latest.title, title, language)
    const query: Sample['query'] = [['ref', 'main']]
    assert.match(await print(request({ ...read, names, query })), /it's\.txt/, language)
  }
})

test('the example of every operation is a program without faults of syntax', async () => {
  await using forge = await openForge()
  const bases = { 'self-hosted': `${forge.web}/api/v3`, versioned: forge.versioned }
  const { sections } = new Reference(apiGroups(forge.belfry))
  const samples = sections.flatMap(({ groups }) =>
    groups.flatMap(({ entries }) => entries.map((entry) => sampleOf(entry, bases))),
  )
  assert.ok(samples.length > 450)
  const AsyncFunction = (async () => {}).constructor as new (code: string) => unknown
  for (const sample of samples) new AsyncFunction(writeSnippet('octokit', sample).replaceAll(/^import .*$/gm, ''))
  const programs = JSON.stringify(samples.map((sample) => writeSnippet('python', sample)))
  const parse = 'import ast, json, os; [ast.parse(code) for code in json.loads(os.environ["PROGRAMS"])]'
  for (let from = 0; from < samples.length; from += 100) {
    const some = JSON.parse(programs).slice(from, from + 100)
    await run('python3', ['-c', parse], { env: { ...process.env, PROGRAMS: JSON.stringify(some) } })
    await run('sh', [
      '-n',
      '-c',
      samples
        .slice(from, from + 100)
        .map((sample) => writeSnippet('curl', sample))
        .join('\n'),
    ])
  }
})
