import '../layout/chart.js';
