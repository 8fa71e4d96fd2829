import { join } from 'node:path'
import { tellStory } from './programs.ts'

tellStory({
  client: 'PyGithub',
  needs: { '/usr/bin/python3': 'python3', '/usr/lib/python3/dist-packages/github': 'python3-github' },
  command: ['/usr/bin/python3', '-B', join(import.meta.dirname, 'pygithub.py')],
})
