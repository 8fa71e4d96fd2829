import { join } from 'node:path'
import { tellStory } from './programs.ts'

tellStory({
  client: 'feedparser',
  needs: { '/usr/bin/python3': 'python3', '/usr/lib/python3/dist-packages/feedparser': 'python3-feedparser' },
  command: ['/usr/bin/python3', '-B', join(import.meta.dirname, 'feedparser_story.py')],
})
