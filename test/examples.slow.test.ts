import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { run, skipped } from './clients/programs.ts'
import { missingPackages } from './needs.ts'

const root = join(import.meta.dirname, '..')
const examples = join(root, 'examples')

interface Example {
  name: string
  command: string[]
  needs?: Record<string, string>
  env?: Record<string, string>
}

const all: Example[] = [
  { name: 'octokit-script', command: [process.execPath, '--test', join(examples, 'octokit-script/close-waiting.test.js')] },
  { name: 'probot-app', command: [process.execPath, '--test', join(examples, 'probot-app/app.test.js')] },
  {
    name: 'pygithub',
    command: ['/usr/bin/python3', '-B', '-m', 'unittest', 'discover', join(examples, 'pygithub')],
    needs: { '/usr/bin/python3': 'python3', '/usr/lib/python3/dist-packages/github': 'python3-github' },
  },
  {
    name: 'go-github',
    // Without modules, Go takes no absolute path.
    command: ['sh', '-c', 'cd "$0" && exec go test -count=1 .', join(examples, 'go-github')],
    needs: { go: 'golang-go', '/usr/share/gocode/src/github.com/google/go-github': 'golang-github-google-go-github-dev' },
    // Debian's packages are built without modules, so nothing is downloaded.
    env: { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '', GOCACHE: join(root, 'node_modules/.cache/go') },
  },
]

for (const { name, command, needs = {}, env = {} } of all) {
  test(`the tests of examples/${name} pass`, async (t) => {
    const missing = missingPackages(needs)
    if (missing.length) return t.skip(skipped(`examples/${name}`, missing))
    const { stdout, stderr, failed } = await run(command, { BELFRY: join(root, 'bin/belfry'), ...env })
    assert.equal(failed, false, `${stdout}\n${stderr}`)
  })
}
