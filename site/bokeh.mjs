// Bokeh's script as this page needs it: the models that figures.py draws with, and what they rest on. A model that is
// missing here is named in an error when a chart asks for it.
import { register_models } from "@bokeh/bokehjs/build/js/lib/base.js";
import * as dom from "@bokeh/bokehjs/build/js/lib/core/dom.js";
import * as visual from "@bokeh/bokehjs/build/js/lib/core/visuals/visual.js";
import * as document from "@bokeh/bokehjs/build/js/lib/document/document.js";
import * as glyph_renderer from "@bokeh/bokehjs/build/js/lib/models/renderers/glyph_renderer.js";
import { AllIndices } from "@bokeh/bokehjs/build/js/lib/models/filters/all_indices.js";
import { AllLabels } from "@bokeh/bokehjs/build/js/lib/models/policies/labeling.js";
import { BasicTickFormatter } from "@bokeh/bokehjs/build/js/lib/models/formatters/basic_tick_formatter.js";
import { BasicTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/basic_ticker.js";
import { CDSView } from "@bokeh/bokehjs/build/js/lib/models/sources/cds_view.js";
import { ColumnDataSource } from "@bokeh/bokehjs/build/js/lib/models/sources/column_data_source.js";
import { Figure } from "@bokeh/bokehjs/build/js/lib/models/plots/figure.js";
import { FixedTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/fixed_ticker.js";
import { GlyphRenderer } from "@bokeh/bokehjs/build/js/lib/models/renderers/glyph_renderer.js";
import { Grid } from "@bokeh/bokehjs/build/js/lib/models/grids/grid.js";
import { HoverTool } from "@bokeh/bokehjs/build/js/lib/models/tools/inspectors/hover_tool.js";
import { LabelSet } from "@bokeh/bokehjs/build/js/lib/models/annotations/label_set.js";
import { LinearAxis } from "@bokeh/bokehjs/build/js/lib/models/axes/linear_axis.js";
import { LinearScale } from "@bokeh/bokehjs/build/js/lib/models/scales/linear_scale.js";
import { LogAxis } from "@bokeh/bokehjs/build/js/lib/models/axes/log_axis.js";
import { LogScale } from "@bokeh/bokehjs/build/js/lib/models/scales/log_scale.js";
import { LogTickFormatter } from "@bokeh/bokehjs/build/js/lib/models/formatters/log_tick_formatter.js";
import { LogTicker } from "@bokeh/bokehjs/build/js/lib/models/tickers/log_ticker.js";
import { MultiLine } from "@bokeh/bokehjs/build/js/lib/models/glyphs/multi_line.js";
import { Notifications } from "@bokeh/bokehjs/build/js/lib/models/ui/notifications.js";
import { Range1d } from "@bokeh/bokehjs/build/js/lib/models/ranges/range1d.js";
import { Scatter } from "@bokeh/bokehjs/build/js/lib/models/glyphs/scatter.js";
import { Segment } from "@bokeh/bokehjs/build/js/lib/models/glyphs/segment.js";
import { Selection } from "@bokeh/bokehjs/build/js/lib/models/selections/selection.js";
import { Span } from "@bokeh/bokehjs/build/js/lib/models/annotations/span.js";
import { Title } from "@bokeh/bokehjs/build/js/lib/models/annotations/title.js";
import { Toolbar } from "@bokeh/bokehjs/build/js/lib/models/tools/toolbar.js";
import { UnionRenderers } from "@bokeh/bokehjs/build/js/lib/models/selections/interaction_policy.js";

export * from "@bokeh/bokehjs/build/js/lib/index.js";

register_models([
  AllIndices, AllLabels, BasicTickFormatter, BasicTicker, CDSView, ColumnDataSource, Figure, FixedTicker, GlyphRenderer,
  Grid, HoverTool, LabelSet, LinearAxis, LinearScale, LogAxis, LogScale, LogTickFormatter, LogTicker, MultiLine,
  Notifications, Range1d, Scatter, Segment, Selection, Span, Title, Toolbar, UnionRenderers,
]);

// The parts that show.mjs and boot.mjs reach into, by the names that Bokeh's own script has for them.
const PARTS = {
  "core/dom": dom,
  "core/visuals/visual": visual,
  "document/document": document,
  "models/renderers/glyph_renderer": glyph_renderer,
};
export const require = (name) => PARTS[name];
