import { before } from 'node:test'
import { openSite, testPages } from './pages.ts'

before(openSite)

testPages('issues and pull requests')
testPages('repositories')
