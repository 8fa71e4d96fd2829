import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, tellStory } from './programs.ts'

const folder = join(import.meta.dirname, 'hub4j')
const cache = join(import.meta.dirname, '../../node_modules/.cache/hub4j')
const classes = join(cache, 'classpath')
const [, version = ''] = /<artifactId>github-api<.+\s+<version>(.+)</.exec(readFileSync(join(folder, 'pom.xml'), 'utf8')) ?? []

tellStory({
  client: 'hub4j (`github-api`)',
  needs: { javac: 'default-jdk-headless', mvn: 'maven' },
  async prepare() {
    mkdirSync(cache, { recursive: true })
    const goal = ['dependency:build-classpath', `-Dmaven.repo.local=${cache}`, `-Dmdep.outputFile=${classes}`]
    const { failed, stdout } = await run(['mvn', '-q', '-B', '-f', join(folder, 'pom.xml'), ...goal], {})
    return failed ? `Maven cannot download it: ${stdout}` : undefined
  },
  command: ['java', '-XX:TieredStopAtLevel=1', join(folder, 'Story.java')],
  env: () => ({ VERSION: version, CLASSPATH: readFileSync(classes, 'utf8') }),
})
