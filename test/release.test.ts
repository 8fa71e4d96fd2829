import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const exec = promisify(execFile)
const root = join(import.meta.dirname, '..')

/** A repository with what a release touches, whose suite has the given result. */
async function openClone(suite: string) {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-release-'))
  await mkdir(join(folder, 'bin'))
  for (const file of ['bin/release.ts', 'package.json', 'package-lock.json']) await cp(join(root, file), join(folder, file))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const manifest = JSON.parse(read('package.json'))
  write('package.json', JSON.stringify({ ...manifest, version: '1.2.3', scripts: { 'test:all': suite } }, null, 2))
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n### Added\n\n- Bells.\n\n## 1.2.3 (2026-01-01)\n\n- Towers.\n')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const git = async (...args: string[]) => (await exec('git', ['-C', folder, ...args])).stdout.trim()
  await git('init', '--quiet', '--initial-branch=main')
  await git('config', 'user.name', 'Ada')
  await git('config', 'user.email', 'ada@example.com')
  write('.gitignore', 'node_modules\n')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Begin')
  return {
    read,
    write,
    git,
    version: () => JSON.parse(read('package.json')).version,
    release: (...args: string[]) =>
      exec(process.execPath, ['bin/release.ts', ...args], { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stderr }) => `refused: ${stderr}`,
      ),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

test('a release bumps the version, dates the changelog, commits and tags', async () => {
  await using clone = await openClone('true')
  assert.match(await clone.release('minor'), /^Released 1\.3\.0\./m)
  assert.equal(clone.version(), '1.3.0')
  assert.equal(JSON.parse(clone.read('package-lock.json')).version, '1.3.0')
  assert.match(
    clone.read('CHANGELOG.md'),
    /^# Changelog\n\n## Unreleased\n\n## 1\.3\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added\n\n- Bells\.\n\n## 1\.2\.3 \(2026-01-01\)\n\n- Towers\.\n$/,
  )
  assert.equal(await clone.git('log', '-1', '--format=%s'), 'Release 1.3.0')
  assert.equal(await clone.git('describe', '--exact-match'), 'v1.3.0')
  assert.equal(await clone.git('status', '--porcelain'), '')
  assert.match(await clone.release('patch'), /^refused: CHANGELOG\.md says nothing under "## Unreleased"/)
})

test('a release refuses a dirty tree, another branch, a version that is not above the present one, and a failing suite', async () => {
  await using clone = await openClone('false')
  const head = await clone.git('rev-parse', 'HEAD')
  assert.match(await clone.release('1.2.3'), /^refused: 1\.2\.3 is not above/)
  assert.match(await clone.release('lots'), /^refused: Usage: /)
  assert.match(await clone.release('2.0.0'), /npm run test:all fails on this commit/)
  clone.write('new.txt', 'text')
  assert.match(await clone.release('2.0.0'), /^refused: The working tree has changes/)
  await clone.git('stash', '--include-untracked', '--quiet')
  await clone.git('switch', '--quiet', '--create', 'topic')
  assert.match(await clone.release('2.0.0'), /^refused: Releases are cut from main; this is topic/)
  assert.deepEqual([await clone.git('rev-parse', 'HEAD'), await clone.git('tag'), clone.version()], [head, '', '1.2.3'])
})

test('a dry run says what a release would do and changes nothing', async () => {
  await using clone = await openClone('false')
  assert.match(await clone.release('1.10.0', '--dry-run'), /^Would run npm run test:all, set the version to 1\.10\.0/)
  assert.equal(clone.version(), '1.2.3')
  assert.equal(await clone.git('status', '--porcelain'), '')
})
