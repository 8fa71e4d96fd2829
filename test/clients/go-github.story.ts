import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tellStory } from './programs.ts'

const source = '/usr/share/gocode/src/github.com/google/go-github'
/** The package does not say its version in Go. */
function version() {
  const [, found = ''] =
    /^Package: golang-github-google-go-github-dev\n(?:.+\n)*?Version: ([\d.]+)/m.exec(
      readFileSync('/var/lib/dpkg/status', 'utf8'),
    ) ?? []
  return found
}

tellStory({
  client: 'go-github',
  needs: { go: 'golang-go', [source]: 'golang-github-google-go-github-dev' },
  command: ['go', 'run', join(import.meta.dirname, 'go-github/main.go')],
  // Debian's packages are built without modules, so nothing is downloaded.
  env: () => ({
    GO111MODULE: 'off',
    GOPATH: '/usr/share/gocode',
    GOFLAGS: '',
    GOCACHE: join(import.meta.dirname, '../../node_modules/.cache/go'),
    VERSION: version(),
  }),
})
