import { adapterContract } from '../../support/adapters/contract.ts';
import { aiSdkHarness } from '../../support/adapters/ai-sdk.ts';
import { claudeAgentSdkHarness } from '../../support/adapters/claude-agent-sdk.ts';
import { governHarness } from '../../support/adapters/govern.ts';
import { langchainHarness } from '../../support/adapters/langchain.ts';
import { mcpClientHarness, mcpHarness, mcpRequestHarness } from '../../support/adapters/mcp.ts';
import { openaiAgentsHarness } from '../../support/adapters/openai-agents.ts';

adapterContract('govern', governHarness);
adapterContract('MCP clients', mcpHarness);
adapterContract('MCP clients for frameworks', mcpClientHarness);
adapterContract('requests of MCP clients for frameworks', mcpRequestHarness);
adapterContract('the Vercel AI SDK', aiSdkHarness);
adapterContract('the OpenAI Agents SDK', openaiAgentsHarness);
adapterContract('LangChain', langchainHarness);
adapterContract('the Claude Agent SDK', claudeAgentSdkHarness);
