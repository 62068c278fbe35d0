// Stands in for proj4, of which Bokeh makes at load the way from degrees to a map's metres: there are no maps here, and it
// has 55 kB.
export default function proj4() {}
